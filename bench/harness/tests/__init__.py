"""python3 -m unittest discover -s bench -t bench"""
