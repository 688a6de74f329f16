// The catalogue of a mail-order house on Apollo Server and pg: orders in PostgreSQL, products in memory, an audit over HTTP.
'use strict';
const { ApolloServer } = require('@apollo/server');
const { startStandaloneServer } = require('@apollo/server/standalone');
const { Pool } = require('pg');
const { Audit } = require('./audit');

const fault = (name) => process.env.FAULT === name;
const [host, port] = process.env.ADDR.split(':');
const [dbHost, dbPort] = process.env.ADDR_DB.split(':');
const pool = new Pool({ host: dbHost, port: Number(dbPort), user: 'shop', database: 'shop', max: 16 });
const audit = new Audit(process.env.ADDR_AUDIT, fault('audit-chain'));

let products = new Map();
async function readProducts() {
  const found = await pool.query('select id, sku, name, price_cents as cents, stock from products order by id');
  products = new Map(found.rows.map((product) => [product.id, product]));
}

const typeDefs = `
  type Product { id: Int!  sku: String!  name: String!  cents: Int!  stock: Int!  label: String! }
  type Order { id: Int!  cents: Int!  status: String!  product: Product }
  type Customer { id: Int!  name: String!  city: String!  orders: [Order!]! }
  type Query {
    order(id: Int!): Order
    customer(id: Int!): Customer
    catalogue(page: Int!): [Product!]!
    news(id: Int!): String
  }`;

const resolvers = {
  Query: {
    order: async (_, { id }) => (await pool.query('select id, total_cents::int as cents, status, product_id from orders where id = $1', [id])).rows[0],
    customer: async (_, { id }) => {
      await audit.note(id);
      return (await pool.query('select id, name, city from customers where id = $1', [id])).rows[0];
    },
    // A page has 30 products. With the fault the page is cut by those who show it.
    catalogue: (_, { page }) => {
      const all = [...products.values()];
      return fault('whole-list') ? all : all.slice((page % 60) * 30, (page % 60) * 30 + 30);
    },
    // Screens wait up to five seconds for news.
    news: () => new Promise((resolve) => setTimeout(resolve, 5000, null)),
  },
  Customer: {
    orders: async (customer) => (await pool.query('select id, total_cents::int as cents, status, product_id from orders where customer_id = $1 order by id desc limit 20', [customer.id])).rows,
  },
  Order: { product: async (order) => products.get(order.product_id) },
  Product: { label: async (product) => product.name + ' (' + product.sku + ')' },
};

async function main() {
  await readProducts();
  setInterval(() => readProducts().catch((err) => console.error(err)), 4000);
  const server = new ApolloServer({ typeDefs, resolvers });
  await startStandaloneServer(server, { listen: { host, port: Number(port) } });
}
process.on('SIGTERM', () => process.exit(0));
main();
