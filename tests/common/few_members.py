"""The methods of the registry as the contracts take them: an ensemble, where there is one, has few members."""

FEW_MEMBERS = 12


def quick(row, n_clusters=3, **parameters):
    """A method that is quick to fit."""
    model = row.load()(n_clusters, **parameters)
    return model.set_params(n_base_clusterings=FEW_MEMBERS) if "n_base_clusterings" in model.get_params() else model
