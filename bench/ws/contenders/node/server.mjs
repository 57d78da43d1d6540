// usage: node server.mjs PORT WORKERS MODULES. MODULES is where `ws` is installed.
import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

const [port, workers, modules] = process.argv.slice(2);

if (cluster.isPrimary && Number(workers) > 1) {
  // The workers accept by themselves, as the other contenders' do: the primary would be a third process at work.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  for (let i = 0; i < Number(workers); i++) {
    cluster.fork();
  }
  cluster.on('message', (from, text) => {
    for (const worker of Object.values(cluster.workers)) {
      if (worker !== from) {
        worker.send(text);
      }
    }
  });
  process.on('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers)) {
      worker.kill();
    }
    process.exit(0);
  });
} else {
  serve();
}

function serve() {
  const { WebSocketServer } = createRequire(`${modules}/`)('ws');
  const http = createServer((request, response) => response.end('Hello'));
  const server = new WebSocketServer({ server: http });
  const broadcast = (text) => server.clients.forEach((client) => client.send(text));
  server.on('connection', (socket) => {
    socket.on('message', (data, binary) => {
      if (!binary && data.length > 1 && data[0] === 0x62 && data[1] === 0x3a) {
        const text = data.toString();
        broadcast(text);
        process.send?.(text);
      } else {
        socket.send(data, { binary });
      }
    });
    socket.on('error', () => {});
  });
  process.on('message', broadcast);
  http.listen({ port: Number(port), host: '127.0.0.1', backlog: 4096 });
}
