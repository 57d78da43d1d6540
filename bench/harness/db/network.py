"""Requests a second of a closed network of queues: what a pool and the processor let so many users have together."""

import math


def rate(users: int, pool: float, connections: int, core: float, cores: int) -> float:
    """Requests a second of `users` that are either at the pool or at the cores, by the network's product form: of a
    pool of `connections` that would allow `pool` requests a second, and `cores` that would allow `core` a second. It
    is below both: now and then all users are at the one, and the other is idle."""
    at_pool = [_weight(users_there, connections, connections / pool) for users_there in range(users + 1)]
    at_cores = [_weight(users_there, cores, cores / core) for users_there in range(users + 1)]
    logarithms = [at_pool[there] + at_cores[users - there] for there in range(users + 1)]
    greatest = max(logarithms)
    weights = [math.exp(logarithm - greatest) for logarithm in logarithms]
    busy = sum(weight * min(users - there, cores) for there, weight in enumerate(weights)) / sum(weights)
    return busy * core / cores


def _weight(users: int, servers: int, seconds: float) -> float:
    """Logarithm of the weight of so many users at a station."""
    waiting = max(users - servers, 0)
    return users * math.log(seconds) - math.lgamma(users - waiting + 1) - waiting * math.log(servers)
