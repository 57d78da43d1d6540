// Node's own http module, no framework; files through the callback API, the quickest that does not block the loop.
// usage: node server.js PORT DIRECTORY
'use strict';

const crypto = require('node:crypto');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');

const [port, dir] = [Number(process.argv[2]), process.argv[3]];

function send(response, status, type, body) {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

function fail(response, error) {
  send(response, 500, 'text/plain', error.message);
}

/** W6 stage 1: built anew for each request, as the others do. */
function list() {
  const items = [];
  for (let id = 0; id < 100; id++) {
    items.push({ id, name: `item ${id}`, active: id % 2 === 0 });
  }
  return JSON.stringify(items);
}

function collect(request, then) {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => then(Buffer.concat(chunks)));
}

/** W6 stage 2: keep the body under a new UUID, then delete it. */
function upload(request, response) {
  const uuid = crypto.randomUUID();
  const file = path.join(dir, uuid);
  collect(request, (body) => fs.writeFile(file, body, (error) => {
    if (error) return fail(response, error);
    fs.unlink(file, (failed) => (failed ? fail(response, failed) : send(response, 200, 'text/plain', uuid)));
  }));
}

/** W6 stage 3: keep the body, read it back, delete it. */
function echo(request, response) {
  const file = path.join(dir, crypto.randomUUID());
  collect(request, (body) => fs.writeFile(file, body, (error) => {
    if (error) return fail(response, error);
    fs.readFile(file, (unread, bytes) => {
      if (unread) return fail(response, unread);
      fs.unlink(file, (failed) => (
        failed ? fail(response, failed) : send(response, 200, 'application/octet-stream', bytes)));
    });
  }));
}

const routes = {
  'GET /': (request, response) => send(response, 200, 'text/plain', 'Hello, World!'),
  'GET /json': (request, response) => send(response, 200, 'application/json', list()),
  'POST /upload': upload,
  'POST /echo': echo,
};

const server = http.createServer((request, response) => {
  const route = routes[`${request.method} ${request.url}`];
  if (route) route(request, response);
  else send(response, 404, 'text/plain', 'Not Found');
});
server.listen({ host: '127.0.0.1', port, backlog: 4096 });
