"""The methods of the registry as the contracts take them: few members of an ensemble, few starts, few sweeps."""

# parameters that only say how often something is begun anew or repeated, and how often that is here
FEW = {"n_init": 2, "n_starts": 2, "n_sweeps": 25}
# partitions that are merged have more local optima
FEW_OF_MEMBERS = {"n_init": 5}
FEW_MEMBERS = 8


def quick(row, n_clusters=3, **parameters):
    """A method that is quick to fit."""
    model = row.load()(n_clusters, **parameters)
    given = model.get_params(deep=False)
    of_members = "n_base_clusterings" in given
    wanted = (FEW | FEW_OF_MEMBERS if of_members else FEW).items()
    few = {name: number for name, number in wanted if isinstance(given.get(name), int) and given[name] > number}
    return model.set_params(**few | ({"n_base_clusterings": FEW_MEMBERS} if of_members else {}))


def few_votes(patch):
    """Let two of the seven other methods vote in ``Consensus``, once each; every method has contracts of its own."""
    from manyviews.cluster import consensus_members

    few = tuple(system._replace(scalings=("auto",)) for system in consensus_members.SYSTEMS[:2])
    patch.setattr(consensus_members, "SYSTEMS", few)


def small_consensus(patch):
    """Also give ``Consensus`` few members where their number is not stated, for tests of what is done with it."""
    from manyviews.cluster import consensus

    few_votes(patch)
    patch.setattr(consensus, "FEWEST", FEW_MEMBERS)
    patch.setattr(consensus, "MOST", FEW_MEMBERS)
