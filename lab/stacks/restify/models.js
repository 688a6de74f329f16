// Objection's models of the tables in PostgreSQL.
'use strict';
const { Model } = require('objection');

exports.connectModels = (address) => {
  const [host, port] = address.split(':');
  const knex = require('knex')({ client: 'pg', connection: { host, port: Number(port), user: 'shop', database: 'shop' }, pool: { min: 2, max: 12 } });

  class Part extends Model {
    static tableName = 'products';
  }

  class Job extends Model {
    static tableName = 'orders';

    static relationMappings = {
      part: { relation: Model.BelongsToOneRelation, modelClass: Part, join: { from: 'orders.product_id', to: 'products.id' } },
    };
  }

  Model.knex(knex);
  return { knex, Job };
};
