// The contender Node: server.js CERT KEY MODULES. MODULES is where `ws` is installed.
const fs = require('fs');
const http2 = require('http2');
const { createRequire } = require('module');

const [cert, key, modules] = process.argv.slice(2);
const { WebSocketServer } = createRequire(`${modules}/`)('ws');
const large = Buffer.alloc(1 << 20, 'x');
const options = { cert: fs.readFileSync(cert), key: fs.readFileSync(key), allowHTTP1: true };
const server = http2.createSecureServer(options, (request, response) => {
  response.end(request.url === '/large' ? large : 'hello');
});
server.keepAliveTimeout = 600_000;
new WebSocketServer({ server }).on('connection', (socket) => {
  socket.on('message', (data, binary) => socket.send(data, { binary }));
});
server.listen(0, '127.0.0.1', () => console.log(`port ${server.address().port}`));
