"""The methods of the registry as the contracts take them: few members of an ensemble, few starts, the same steps."""

FEW_MEMBERS, FEW_STARTS = 8, 2
# parameters that only say how often something is begun anew
STARTS = ("n_init", "n_starts")


def quick(row, n_clusters=3, **parameters):
    """A method that is quick to fit."""
    model = row.load()(n_clusters, **parameters)
    given = model.get_params(deep=False)
    few = {name: FEW_STARTS for name in STARTS if isinstance(given.get(name), int) and given[name] > FEW_STARTS}
    return model.set_params(**few | ({"n_base_clusterings": FEW_MEMBERS} if "n_base_clusterings" in given else {}))


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
