// The shop on Express and pg. WORKERS=2 serves it by the cluster module with as many processes.
'use strict';
const cluster = require('node:cluster');
const crypto = require('node:crypto');
const http = require('node:http');
const express = require('express');
const { Pool } = require('pg');

const fault = (name) => process.env.FAULT === name;
const workers = Number(process.env.WORKERS || 0);

if (workers > 0 && cluster.isPrimary) {
  for (let n = 0; n < workers; n++) cluster.fork();
  process.on('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers)) worker.kill();
    process.exit(0);
  });
} else {
  serve();
}

function serve() {
  const [host, port] = process.env.ADDR.split(':');
  const [dbHost, dbPort] = process.env.ADDR_DB.split(':');
  const pool = new Pool({ host: dbHost, port: Number(dbPort), user: 'shop', password: 'shop', database: 'shop', max: fault('pool-small') ? 2 : 16 });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  const app = express();
  const asked = (handler) => (req, res, next) => handler(req, res).catch(next);

  app.get('/orders/:id', asked(async (req, res) => {
    const found = await pool.query('select customer_id, total_cents, status from orders where id = $1', [req.params.id]);
    res.json(found.rows[0] || {});
  }));

  app.get('/customers/:id/turnover', asked(async (req, res) => {
    const found = await pool.query('select archived_turnover($1) as cents', [req.params.id]);
    res.json(found.rows[0]);
  }));

  app.get('/customers/:id/orders', asked(async (req, res) => {
    if (!fault('n-plus-one')) {
      const found = await pool.query('select o.id, p.name, o.total_cents from orders o join products p on p.id = o.product_id where o.customer_id = $1', [req.params.id]);
      res.json(found.rows);
      return;
    }
    const found = await pool.query('select id, product_id, total_cents from orders where customer_id = $1', [req.params.id]);
    for (const order of found.rows) {
      const product = await pool.query('select name from products where id = $1', [order.product_id]);
      order.name = product.rows[0].name;
    }
    res.json(found.rows);
  }));

  app.get('/quotes/:id', asked(async (req, res) => {
    res.type('json').send(await get(agent, process.env.ADDR_SUPPLIER, '/quote/' + req.params.id));
  }));

  app.post('/login/:name', asked(async (req, res) => {
    const hash = fault('hash-on-loop') || fault('cluster-hash')
      ? crypto.pbkdf2Sync('secret of ' + req.params.name, 'a salt for the shop', 200000, 32, 'sha256')
      : await new Promise((resolve, reject) => crypto.pbkdf2('secret of ' + req.params.name, 'a salt for the shop', 200000, 32, 'sha256', (err, key) => (err ? reject(err) : resolve(key))));
    res.json({ name: req.params.name, length: hash.length });
  }));

  app.listen(Number(port), host);
  if (cluster.isWorker === false) process.on('SIGTERM', () => process.exit(0));
}

function get(agent, address, path) {
  const [host, port] = address.split(':');
  return new Promise((resolve, reject) => {
    http.get({ host, port: Number(port), path, agent }, (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (chunk) => { text += chunk; });
      res.on('end', () => resolve(text));
      res.on('error', reject);
    }).on('error', reject);
  });
}
