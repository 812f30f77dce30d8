"""
Views in blocks, with Dask
==========================

What is larger than one machine is given as Dask arrays or frames, whose blocks of rows lie with the workers of a
cluster. Fits over blocks give the labels that the same method gives in memory.
"""

import dask.array as da
import numpy as np
import plotly.express as px

from distributed import Client, LocalCluster
from manyviews import FastMICE, datasets, distributed

data = datasets.load("mfeat")

# %%
# A cluster: here two workers in this process. ``Client("tcp://host:8786")`` goes to one of your own.
cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
client = Client(cluster)

# %%
# Blocks of 500 rows, alike in all views. Real ones come from ``dask.dataframe.read_parquet`` or
# ``dask.array.from_zarr`` and hold tens of thousands of rows.
views = {name: da.from_array(X, chunks=(500, -1)) for name, X in data.views.items()}
model = distributed.fit(FastMICE(10, n_base_clusterings=20, random_state=0), views, client)
model.labels_

# %%
# Labels are a Dask array with a block for each block of rows; they are those of a fit in memory.
in_memory = FastMICE(10, n_base_clusterings=20, random_state=0).fit(data.views)
print("labels alike:", float(np.mean(model.labels_.compute() == in_memory.labels_)))

# %%
# New samples in blocks, by any fitted method.
new = distributed.predict(in_memory, views, client).compute()
sizes = [int(np.count_nonzero(new[start : start + 500] == c)) for start in range(0, 2000, 500) for c in range(10)]
client.close()
cluster.close()
px.imshow(
    np.reshape(sizes, (4, 10)),
    labels={"x": "cluster", "y": "block", "color": "samples"},
    text_auto=True,
)
