// What a chain of gyms serves on Fastify in two processes of the cluster module: visits in PostgreSQL by pg, places in
// classes of another company by undici, training plans in memory. The primary keeps the ranking up to date.
'use strict';
const cluster = require('node:cluster');
const { connect } = require('./database');

const fault = (name) => process.env.FAULT === name;

if (cluster.isPrimary) {
  cluster.setupPrimary({ exec: require.resolve('./server'), execArgv: ['--max-old-space-size=' + (fault('old-space') ? 58 : 400)] });
  cluster.fork();
  cluster.fork();
  process.on('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers)) worker.kill();
    process.exit(0);
  });
  keepRanking();
}

// keepRanking makes the ranking anew each two seconds. With the fault nobody can read it meanwhile.
async function keepRanking() {
  const db = connect(1);
  for (;;) {
    await new Promise((done) => setTimeout(done, 2000));
    await db.query('refresh materialized view ' + (fault('refresh-view') ? '' : 'concurrently ') + 'rankings').catch((err) => console.error(err.message));
  }
}
