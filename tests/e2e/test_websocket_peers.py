"""The WebSocket server and clients that others wrote: Chromium, Python's websockets and aiohttp."""

import asyncio
import importlib.util
import shutil
import tempfile
import unittest

from test_demo import BROWSER, Browser
from websocket_cases import WebSocketCase

COMPRESSED = {"websocket_compression": True, "websocket_context_takeover": True, "websocket_compression_threshold": 0, "websocket_subprotocol": "chat"}
TEXTS = ["", "hällo 🐦", "x" * 125, "y" * 65536, "again and again " * 20000]


@unittest.skipUnless(BROWSER, "needs chromium")
class Chromium(WebSocketCase):
    PAGE = """new Promise((done, fail) => {
        const socket = new WebSocket(%s, %s), heard = [];
        socket.binaryType = 'arraybuffer';
        socket.onopen = () => { for (const text of ['', 'hällo 🐦', 'x'.repeat(70000)]) socket.send(text); socket.send(new Uint8Array([0, 255, 7]).buffer); };
        socket.onmessage = event => {
            heard.push(typeof event.data === 'string' ? [...event.data].length > 100 ? event.data.length : event.data : [...new Uint8Array(event.data)]);
            if (heard.length === 4) socket.close(3001, 'enough');
        };
        socket.onclose = event => done({heard, code: event.code, reason: event.reason, clean: event.wasClean, protocol: socket.protocol, extensions: socket.extensions});
    })"""

    def browser(self, server):
        folder = tempfile.mkdtemp(prefix="apus-e2e-browser-")
        self.addCleanup(shutil.rmtree, folder, True)
        browser = Browser(folder)
        self.addCleanup(browser.close)
        browser.call("Page.navigate", url=server.url("/"))
        browser.until("document.readyState === 'complete'")
        return browser

    def test_messages_go_and_come(self):
        server = self.websockets(settings=COMPRESSED)
        browser = self.browser(server)
        url = f"'ws://127.0.0.1:{server.port}/chat'"
        out = browser.run(self.PAGE % (url, "['other', 'chat']"))
        self.assertEqual(out["heard"], ["", "hällo 🐦", 70000, [0, 255, 7]])
        self.assertEqual((out["code"], out["reason"], out["clean"], out["protocol"]), (3001, "", True, "chat"))
        self.assertIn("permessage-deflate", out["extensions"])

    def test_a_stop_is_a_clean_close_with_1001(self):
        server = self.websockets()
        browser = self.browser(server)
        url = f"'ws://127.0.0.1:{server.port}/'"
        browser.run(f"new Promise(done => {{ window.ended = null; const s = new WebSocket({url}); s.onopen = done; s.onclose = e => window.ended = [e.code, e.wasClean]; }}).then(() => 1)")
        server.process.terminate()
        browser.until("window.ended")
        self.assertEqual(browser.run("window.ended"), [1001, True])
        self.assertEqual(server.wait(), 0)

    def test_pages_of_other_origins_are_turned_away(self):
        server = self.websockets(settings={"websocket_origins": "https://example.org"})
        browser = self.browser(server)
        out = browser.run(f"new Promise(done => {{ const s = new WebSocket('ws://127.0.0.1:{server.port}/'); s.onopen = () => done('open'); s.onclose = e => done(e.code); }})")
        self.assertEqual(out, 1006)


@unittest.skipUnless(importlib.util.find_spec("websockets"), "needs python3-websockets")
class PythonWebsockets(WebSocketCase):
    def test_messages_go_and_come(self):
        import websockets

        async def talk(port):
            async with websockets.connect(f"ws://127.0.0.1:{port}/", subprotocols=["chat"]) as ws:
                assert ws.subprotocol == "chat"
                for _ in range(3):
                    for text in TEXTS:
                        await ws.send(text)
                        assert await ws.recv() == text
                # In fragments.
                await ws.send(["a", "b", "c"])
                assert await ws.recv() == "abc"
                await ws.send(b"\xff" * 1000)
                assert await ws.recv() == b"\xff" * 1000
                await asyncio.wait_for(await ws.ping(b"there?"), 30)
            return ws.close_code
        server = self.websockets(settings=COMPRESSED)
        self.assertEqual(asyncio.run(talk(server.port)), 1000)


@unittest.skipUnless(importlib.util.find_spec("aiohttp"), "needs python3-aiohttp")
class Aiohttp(WebSocketCase):
    def test_messages_go_and_come(self):
        import aiohttp

        async def talk(port):
            async with aiohttp.ClientSession() as session, session.ws_connect(f"http://127.0.0.1:{port}/", compress=15, max_msg_size=0) as ws:
                for _ in range(3):
                    for text in TEXTS:
                        await ws.send_str(text)
                        assert await ws.receive_str() == text
                await ws.close(code=4000)
                return ws.close_code
        server = self.websockets(settings=COMPRESSED)
        self.assertEqual(asyncio.run(talk(server.port)), 4000)
