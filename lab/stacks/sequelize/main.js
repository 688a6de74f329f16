// The stays of a chain of youth hostels on Express and Sequelize: orders and vouchers in MariaDB, a book of arrivals in a file.
'use strict';
const fs = require('node:fs');
const express = require('express');
const { Sequelize, DataTypes } = require('sequelize');

const fault = (name) => process.env.FAULT === name;
const [host, port] = process.env.ADDR.split(':');
const [dbHost, dbPort] = process.env.ADDR_DB.split(':');
const sequelize = new Sequelize('shop', 'shop', '', {
  dialect: 'mysql', host: dbHost, port: Number(dbPort), logging: false, pool: { max: 12, min: 4, acquire: 20000 },
});

const hostel = (name, columns) => sequelize.define(name, columns, { tableName: name, timestamps: false });
const Guest = hostel('guests', { id: { type: DataTypes.INTEGER, primaryKey: true }, name: DataTypes.STRING });
const Stay = hostel('stays', { id: { type: DataTypes.INTEGER, primaryKey: true }, guestId: DataTypes.INTEGER, hostel: DataTypes.STRING, nights: DataTypes.INTEGER, cents: DataTypes.INTEGER });
const Voucher = hostel('vouchers', { id: { type: DataTypes.INTEGER, primaryKey: true }, guestId: DataTypes.INTEGER, code: DataTypes.STRING, cents: DataTypes.INTEGER });
Guest.hasMany(Stay, { foreignKey: 'guestId', as: 'stays' });
Guest.hasMany(Voucher, { foreignKey: 'guestId', as: 'vouchers' });

const app = express();
app.disable('x-powered-by');
const answer = (find) => (req, res, next) => find(req).then((found) => (found ? res.json(found) : res.sendStatus(404)), next);

app.get('/stays/:id', answer((req) => Stay.findByPk(req.params.id)));

// A guest with all stays and all vouchers. Joined in one query, each stay comes once with each voucher.
app.get('/guests/:id', answer((req) => {
  const separate = !fault('cartesian-join');
  return Guest.findByPk(req.params.id, { include: [{ model: Stay, as: 'stays', separate }, { model: Voucher, as: 'vouchers', separate }] });
}));

// The book of arrivals. It is on the disk at most a second later; with the fault at once.
const book = fs.openSync('arrivals.book', 'a');
if (!fault('sync-each')) setInterval(() => fs.fsync(book, (err) => { if (err) console.error(err); }), 1000);

app.post('/arrivals/:id', answer(async (req) => {
  const stay = await Stay.findByPk(req.params.id);
  const line = new Date().toISOString() + ' ' + JSON.stringify(stay) + '\n';
  if (fault('sync-each')) {
    fs.writeSync(book, line);
    fs.fsyncSync(book);
  } else {
    await new Promise((resolve, reject) => fs.write(book, line, (err) => (err ? reject(err) : resolve())));
  }
  return { arrived: stay.id };
}));

app.listen(Number(port), host);
process.on('SIGTERM', () => process.exit(0));
