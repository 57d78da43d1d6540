"""Framings of stream ports with real sockets: cut at every byte, several in one segment, and what no framing allows."""

import hashlib
import itertools
import struct
import unittest

from streams import RawCase, hex_lines, read_json, send_apart
from support import until

HEX = """
$server->on('receive', function ($server, $fd, $workerId, $data) { $server->send($fd, bin2hex($data) . "\\n"); });
$server->on('close', function ($server, $fd) { note("close $fd"); });
"""


def long(data):
    return struct.pack(">I", len(data)) + data


# Settings, the messages as they are sent, and what the program gets of each.
GOOD = {
    "length": ({"open_length_check": True, "package_length_type": "N", "package_body_offset": 4}, [long(b"hello"), long(b""), long(b"x" * 40)], None),
    "length behind a head": ({"open_length_check": True, "package_length_type": "v", "package_length_offset": 3, "package_body_offset": 5}, [b"hd1" + struct.pack("<H", 2) + b"ab", b"hd2" + struct.pack("<H", 0)], None),
    "length of everything": ({"open_length_check": True, "package_length_type": "n", "package_body_offset": 0}, [struct.pack(">H", 5) + b"abc", struct.pack(">H", 2)], None),
    "end": ({"open_eof_check": True, "open_eof_split": True, "package_eof": "##"}, [b"one##", b"t#wo##", b"##"], None),
    "line": ({"open_line_protocol": True}, [b"unix\n", b"dos\r\n", b"\n", b"in\rside\n"], [b"unix", b"dos", b"", b"in\rside"]),
    "fixed": ({"package_fixed_length": 7}, [b"abcdefg", b"\0\n\r\xff123"], None),
    "mqtt": ({"open_mqtt_protocol": True}, [b"\x10\x02ab", b"\xc0\x00", b"\x30\x80\x01" + b"m" * 128], None),
    "redis": ({"open_redis_protocol": True}, [b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", b"PING\r\n", b"*1\r\n$2\r\n\r\n\r\n"], None),
}

# Settings, the bytes, and what the log says.
BAD = {
    "too long": ({"open_length_check": True, "package_body_offset": 4, "package_max_length": 100}, struct.pack(">I", 97), "the peer sends a message of 101 bytes, package_max_length allows 100"),
    "huge": ({"open_length_check": True, "package_body_offset": 4}, b"\xff\xff\xff\xff", "the peer sends a message of 4294967299 bytes"),
    "negative": ({"open_length_check": True, "package_length_type": "l", "package_body_offset": 4}, struct.pack("=i", -7), "whose length would be -3 bytes"),
    "shorter than its head": ({"open_length_check": True, "package_length_type": "n", "package_body_offset": 0}, b"\0\1", "whose length would be 1 bytes, but it has 2 at least"),
    "endless": ({"open_eof_split": True, "package_max_length": 1000}, b"x" * 1000, "the peer sends 1000 bytes (package_max_length) in which no message ends"),
    "endless line": ({"open_line_protocol": True, "package_max_length": 1000}, b"x" * 1000, "in which no message ends"),
    "endless check": ({"open_eof_check": True, "package_max_length": 1000}, b"x" * 1000, "in which no message ends"),
    "mqtt too long": ({"open_mqtt_protocol": True, "package_max_length": 100}, b"\x30\xe4\x00", "the peer sends a message of 103 bytes"),
    "mqtt endless length": ({"open_mqtt_protocol": True}, b"\x30\xff\xff\xff\xff", "remaining length has more than 4 bytes"),
    "mqtt reserved": ({"open_mqtt_protocol": True}, b"\x00\x00", "of type 0, which is reserved"),
    "redis count": ({"open_redis_protocol": True}, b"*2000000\r\n", "of more than 1048576 parts"),
    "redis nesting": ({"open_redis_protocol": True}, b"*1\r\n*1\r\n", "that is no bulk string"),
    "redis negative": ({"open_redis_protocol": True}, b"*1\r\n$-5\r\n", "of negative length"),
    "redis bulk": ({"open_redis_protocol": True, "package_max_length": 100}, b"*1\r\n$100\r\n", "package_max_length allows 100"),
    "redis line": ({"open_redis_protocol": True}, b"x" * 65536, "in which no message ends"),
}


class Framing(RawCase):
    def test_messages_cut_at_every_byte_and_all_in_one_segment(self):
        for name, (settings, messages, wanted) in GOOD.items():
            with self.subTest(name):
                server = self.raw(HEX, settings)
                wanted = wanted or messages
                stream = b"".join(messages)
                client = self.client(server)
                client.send(stream * 3)
                self.assertEqual(hex_lines(client, len(wanted) * 3), wanted * 3)
                for cut in range(1, min(len(stream), 60)):
                    send_apart(client, [stream[:cut], stream[cut:]])
                    self.assertEqual(hex_lines(client, len(wanted)), wanted, cut)
                send_apart(client, [stream[at:at + 1] for at in range(len(stream))])
                self.assertEqual(hex_lines(client, len(wanted)), wanted)
                client.sock.close()
                self.assertEqual(server.stop(), 0)

    def test_what_breaks_a_framing_ends_that_connection_and_is_logged(self):
        for name, (settings, data, why) in BAD.items():
            with self.subTest(name):
                server = self.raw(HEX, settings)
                other = self.client(server)
                client = self.client(server)
                client.send(data)
                self.assertEqual(client.rest(), b"")
                until("the log", lambda: why in server.log())
                self.assertRegex(server.log(), rf"notice: connection \d+ from 127\.0\.0\.1:{client.sock.getsockname()[1]} is closed: .*")
                until("the close event", lambda: len(server.notes()) == 1)
                # Only that one.
                other.sock.setblocking(False)
                with self.assertRaises(BlockingIOError):
                    other.sock.recv(1)
                other.sock.close()
                self.assertEqual(server.stop(), 0)

    def test_messages_before_the_broken_one_are_handled(self):
        server = self.raw(HEX, {"open_length_check": True, "package_body_offset": 4, "package_max_length": 50})
        client = self.client(server)
        client.send(long(b"a") + long(b"b") + struct.pack(">I", 1000))
        self.assertEqual(client.rest().split(), [long(b"a").hex().encode(), long(b"b").hex().encode()])

    def test_a_checked_end_leaves_messages_together(self):
        server = self.raw(HEX, {"open_eof_check": True, "package_eof": "\r\n", "package_max_length": 20})
        client = self.client(server)
        send_apart(client, [b"a\r\nb", b"\r", b"\n"])
        self.assertEqual(hex_lines(client, 1), [b"a\r\nb\r\n"])
        # At the limit the whole messages are handed over, and the rest is waited for.
        send_apart(client, [b"12345678\r\n0123456789"])
        self.assertEqual(hex_lines(client, 1), [b"12345678\r\n"])
        client.send(b"\r\n")
        self.assertEqual(hex_lines(client, 1), [b"0123456789\r\n"])

    def test_an_end_of_any_bytes(self):
        server = self.raw("$server->set(['open_eof_split' => true, 'package_eof' => \"\\xff\\0\"]);" + HEX)
        client = self.client(server)
        client.send(b"a\xffb\xff\0c\0\xff\0")
        self.assertEqual(hex_lines(client, 2), [b"a\xffb\xff\0", b"c\0\xff\0"])

    def test_a_large_message_comes_whole(self):
        server = self.raw("""
            $server->on('receive', function ($server, $fd, $workerId, $data) { $server->send($fd, strlen($data) . ' ' . md5($data) . "\\n"); });
        """, {"open_length_check": True, "package_body_offset": 4, "package_max_length": "32M"})
        client = self.client(server)
        data = long(bytes(range(256)) * 80_000)
        client.send(data)
        while b"\n" not in client.buffer:
            client.more()
        self.assertEqual(client.buffer, f"{len(data)} {hashlib.md5(data).hexdigest()}\n".encode())

    def test_without_a_framing_data_comes_as_it_is(self):
        server = self.raw(HEX)
        client = self.client(server)
        for data in (b"a", b"bc\r\n", b"\0"):
            client.send(data)
            self.assertEqual(hex_lines(client, 1), [data])


class LengthFunction(RawCase):
    def test_a_function_tells_the_length(self):
        server = self.raw("""
            $server->set(['open_length_check' => true, 'package_max_length' => 100, 'package_length_func' => function (string $bytes): int {
                note('asked ' . strlen($bytes));
                if (strlen($bytes) < 2) { return 0; }
                return match ($bytes[0]) { '-' => -1, 'T' => throw new Exception('no idea'), default => 2 + (int) $bytes[1] };
            }]);
        """ + HEX)
        client = self.client(server)
        send_apart(client, [b"a", b"3x", b"y", b"zb0"])
        self.assertEqual(hex_lines(client, 2), [b"a3xyz", b"b0"])
        # Once told, a length is not asked for again.
        self.assertEqual([line for line, _ in itertools.groupby(server.notes())], ["asked 1", "asked 3", "asked 2"])
        for data, why in ((b"-1", "whose length would be -1 bytes"), (b"T1", "no idea")):
            client = self.client(server)
            client.send(data)
            self.assertEqual(client.rest(), b"")
            until(why, lambda: why in server.log())

    def test_a_length_that_is_no_int_ends_the_connection(self):
        server = self.raw("""
            $server->set(['open_length_check' => true, 'package_length_func' => fn ($bytes) => '5']);
        """ + HEX)
        client = self.client(server)
        client.send(b"hello")
        self.assertEqual(client.rest(), b"")
        self.assertIn("package_length_func returned no int", server.log())

    def test_a_port_has_its_own_function(self):
        server = self.raw("""
            $server->set(['open_length_check' => true, 'package_length_func' => fn ($bytes) => 2]);
            $port = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP);
            $port->set(['package_length_func' => fn ($bytes) => 3]);
            $plain = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP);
            $plain->set(['package_length_func' => null, 'package_length_type' => 'C', 'package_body_offset' => 1]);
        """ + HEX)
        for place, data, wanted in ((0, b"abcd", [b"ab", b"cd"]), (1, b"abcdef", [b"abc", b"def"]), (2, b"\1a\0", [b"\1a", b"\0"])):
            client = self.client(server, place)
            client.send(data)
            self.assertEqual(hex_lines(client, 2), wanted)


class Refused(RawCase):
    def said(self, events, settings=None):
        with self.assertRaises(AssertionError) as raised:
            self.raw(events, settings)
        return str(raised.exception)

    def test_settings_that_contradict_each_other(self):
        text = self.said(HEX, {"open_length_check": True, "open_mqtt_protocol": True})
        self.assertIn("open_length_check and open_mqtt_protocol exclude each other", text)
        text = self.said(HEX, {"open_length_check": True, "package_length_type": "x"})
        self.assertIn("package_length_type must be one of c C s S n v l L N V q Q J P", text)
        text = self.said(HEX, {"open_eof_split": True, "package_eof": ""})
        self.assertIn("package_eof must have 1 to 64 bytes", text)
        text = self.said(HEX, {"package_fixed_length": 100, "package_max_length": 50})
        self.assertIn("package_max_length must be at least 100", text)
        text = self.said("$server->set(['package_length_func' => 'nothing']);" + HEX)
        self.assertIn("must be a callable (string $bytes): int", text)

    def test_a_port_that_nobody_answers(self):
        self.assertIn("nothing would answer what clients send of port 127.0.0.1:", self.said(""))
        self.assertIn("on('packet'", self.said("$server->listen('127.0.0.1', 0, Apus\\SOCK_UDP);" + HEX))

    def test_a_ports_framing_takes_the_place_of_the_servers(self):
        server = self.raw("""
            $port = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP);
            $port->set(['open_line_protocol' => true]);
            $other = $server->listen('127.0.0.1', 0, Apus\\SOCK_TCP);
            $other->set(['open_eof_split' => false]);
        """ + HEX, {"open_eof_split": True, "package_eof": ";"})
        for place, data, wanted in ((0, b"a;b;", [b"a;", b"b;"]), (1, b"a;\nb\n", [b"a;", b"b"]), (2, b"a;\n", [b"a;\n"])):
            client = self.client(server, place)
            client.send(data)
            self.assertEqual(hex_lines(client, len(wanted)), wanted)


if __name__ == "__main__":
    unittest.main()
