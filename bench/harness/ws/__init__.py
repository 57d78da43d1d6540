"""`bench/run ws`: WebSocket servers under many connections (W2), and pushes from worker to worker.

cli       arguments and the order of things
plan      the cases
verify    the contract of the servers, before anything is measured
client    the load client (bench/ws/client), and its conversation with us
measure   one contender in one case
results   medians, ratios, aims
report    Markdown
"""
