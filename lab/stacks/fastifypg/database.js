'use strict';
const { Pool } = require('pg');

// connect returns so many connections to PostgreSQL.
exports.connect = (max) => {
  const [host, port] = process.env.ADDR_DB.split(':');
  return new Pool({ host, port: Number(port), user: 'shop', password: 'shop', database: 'shop', max });
};
