'use strict';
const { DataSource, EntitySchema } = require('typeorm');

const Product = new EntitySchema({
  name: 'Product',
  tableName: 'products',
  columns: {
    id: { type: Number, primary: true },
    sku: { type: String },
    name: { type: String },
    priceCents: { type: Number, name: 'price_cents' },
    stock: { type: Number },
  },
});

const Order = new EntitySchema({
  name: 'Order',
  tableName: 'orders',
  columns: {
    id: { type: Number, primary: true },
    customerId: { type: Number, name: 'customer_id' },
    productId: { type: Number, name: 'product_id' },
    quantity: { type: Number },
    totalCents: { type: Number, name: 'total_cents' },
    reference: { type: String },
    note: { type: String },
  },
  relations: { product: { type: 'many-to-one', target: 'Product', joinColumn: { name: 'product_id' } } },
});

const [host, port] = process.env.ADDR_DB.split(':');
const dataSource = new DataSource({
  type: 'mysql', host, port: Number(port), username: 'shop', database: 'shop',
  poolSize: 12, synchronize: false, logging: false, supportBigNumbers: true, bigNumberStrings: false,
  entities: [Product, Order],
});

module.exports = { dataSource, Product, Order };
