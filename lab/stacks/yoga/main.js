// The orders desk of a stationery wholesaler on GraphQL Yoga: orders in MariaDB by TypeORM and mysql2, batches by DataLoader.
'use strict';
const { createServer } = require('http');
const { createSchema, createYoga } = require('graphql-yoga');
const { dataSource } = require('./entities');
const { loaders } = require('./loaders');
const { firstOfQuantity, turnoverOfCustomers } = require('./lists');

const [host, port] = process.env.ADDR.split(':');

const typeDefs = `
  type Product { id: Int!  sku: String!  name: String!  cents: Int! }
  type Order { id: Int!  reference: String!  quantity: Int!  cents: Int!  product: Product }
  type Customer { id: Int!  orders(first: Int = 10): [Order!]! }
  type Turnover { orders: Int!  cents: Float!  list: Float! }
  type Query {
    order(id: Int!): Order
    customer(id: Int!): Customer
    bulky(quantity: Int!): [Order!]!
    turnover(from: Int!): Turnover
  }`;

const resolvers = {
  Query: {
    order: (_, { id }, { orders }) => orders.load(id),
    customer: (_, { id }) => ({ id }),
    bulky: (_, { quantity }) => firstOfQuantity(quantity, 20),
    turnover: (_, { from }) => turnoverOfCustomers(from, from + 40),
  },
  Customer: {
    orders: async ({ id }, { first }, { ordersOf, orders }) => {
      const ids = await ordersOf.load(id);
      return orders.loadMany(ids.slice(0, first));
    },
  },
  Order: {
    cents: (order) => order.totalCents,
    product: (order, _, { products }) => order.product || products.load(order.productId),
  },
  Product: { cents: (product) => product.priceCents },
};

async function main() {
  await dataSource.initialize();
  const yoga = createYoga({ schema: createSchema({ typeDefs, resolvers }), context: () => loaders(), logging: 'error', graphiql: false });
  createServer(yoga).listen(Number(port), host);
}

process.on('SIGTERM', () => process.exit(0));
main().catch((err) => {
  console.error(err);
  process.exit(1);
});
