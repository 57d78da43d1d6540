"""Reading what wrk and ab print."""

import tempfile
import unittest
from pathlib import Path

from harness.load import LoadFailed, parse_ab, parse_wrk

WRK = """Running 1s test @ http://127.0.0.1:20001/
Requests/sec: 110750.11
BENCH {"requests":110750,"seconds":1.000007,"p50_us":280,"p99_us":580,"max_us":4100,"errors":\
{"connect":0,"read":1,"write":0,"status":2,"timeout":3}}
"""

AB = """Concurrency Level:      10
Time taken for tests:   2.000 seconds
Complete requests:      120000
Failed requests:        7
   (Connect: 0, Receive: 0, Length: 7, Exceptions: 0)
Non-2xx responses:      5
Requests per second:    60000.00 [#/sec] (mean)
"""

AB_TABLE = "Percentage served,Time in ms\n0,0.050\n50,0.160\n99,0.410\n100,3.250\n"


class Wrk(unittest.TestCase):
    def test_figures(self):
        load = parse_wrk(WRK)
        self.assertEqual((load.requests, load.p50_us, load.p99_us), (110750, 280, 580))
        self.assertEqual(sum(load.errors.values()), 6)

    def test_no_figures(self):
        with self.assertRaises(LoadFailed):
            parse_wrk("unable to connect to 127.0.0.1:1 Connection refused")


class Ab(unittest.TestCase):
    def test_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "ab.csv"
            table.write_text(AB_TABLE)
            load = parse_ab(AB, table)
        self.assertEqual((load.requests, load.seconds), (120000, 2.0))
        self.assertEqual((load.p50_us, load.p99_us, load.max_us), (160.0, 410.0, 3250.0))
        self.assertEqual(load.errors, {"failed": 7, "status": 5})

    def test_no_figures(self):
        with self.assertRaises(LoadFailed):
            parse_ab("apr_socket_recv: Connection refused (111)", Path("none"))


if __name__ == "__main__":
    unittest.main()
