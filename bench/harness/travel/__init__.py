"""`bench/run travel`: the travel service (W4) in three phases of growing load, beside the same API in Go.

cli       arguments and the order of things
plan      sizes and phases
data      the data set, the requests and their right answers
measure   one contender: load the data, three phases, as fast as it can, start again
results   medians, ratios, aims
report    Markdown
"""
