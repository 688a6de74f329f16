// Lists of contracts for the accountants as CSV.
'use strict';
const { Readable } = require('node:stream');
const { stringify } = require('csv-stringify');
const { stringify: stringifySync } = require('csv-stringify/sync');

const fault = (name) => process.env.FAULT === name;
const rows = 12000;
const page = 50;
const columns = ['id', 'customer_id', 'product_id', 'quantity', 'total_cents', 'status', 'reference', 'note', 'placed_at'];

// The list of a branch is written page by page, with the fault all at once.
exports.listContracts = async (Contract, branch) => {
  const from = (branch % 20) * rows;
  if (fault('list-at-once')) {
    const all = await Contract.find({ where: { id: { between: [from, from + rows - 1] } }, order: 'id' });
    return Readable.from([stringifySync(all.map((contract) => contract.toJSON()), { header: true, columns })]);
  }
  return Readable.from(readPages(Contract, from), { highWaterMark: 20 }).pipe(stringify({ header: true, columns }));
};

async function* readPages(Contract, from) {
  for (let at = from; at < from + rows; at += page) {
    for (const contract of await Contract.find({ where: { id: { between: [at, at + page - 1] } }, order: 'id' })) {
      yield contract.toJSON();
    }
  }
}
