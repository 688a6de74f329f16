using System;
using System.Net.Http;
using System.Threading.Tasks;

namespace Garages
{
    // The tickets of cars, in Redis.
    public sealed class Tickets
    {
        private readonly RedisPool redis;

        public Tickets(RedisPool redis) => this.redis = redis;

        public async Task<string> Find(int id)
        {
            var found = await redis.Call("GET", "ticket:" + id % 20000);
            return found ?? "{\"ticket\":null}";
        }

        public async Task<string> Issue(int id)
        {
            var ticket = "{\"ticket\":" + id + ",\"since\":\"" + DateTime.UtcNow.ToString("o") + "\"}";
            await redis.Call("SET", "ticket:" + id % 20000, ticket);
            return ticket;
        }
    }

    // The bank, which charges cards.
    public sealed class Bank
    {
        private readonly HttpClient http;

        public Bank(HttpClient http) => this.http = http;

        public Task<string> Charge(int ticket) => http.GetStringAsync("/charges/" + ticket);
    }
}
