"""The benchmark harness: starts each contender, loads it, measures it, and writes the tables.

cli         arguments and the order of things
scenarios   what is measured
contenders  the recipes in bench/contenders/*/contender.toml
procs       processes: start pinned, CPU and memory of a tree, end by pid
verify      the right answer first
load        wrk and ab
measure     one contender under one load
results     medians, ratios, aims, the dated JSON file
report      Markdown
chart       SVG
"""
