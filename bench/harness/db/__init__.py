"""`bench/run db`: the application tests of W5 with a database beside the servers.

cli       arguments and the order of things
plan      the tests, the concurrencies, what a pool allows
mariadb   a MariaDB of our own, and its table
verify    the right answers, before anything is measured
load      ab -k
measure   one contender in one test
results   medians, ratios, what the pool allows, aims
report    Markdown
"""
