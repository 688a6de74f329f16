using System;
using System.Collections.Concurrent;
using System.Threading;
using System.Threading.Tasks;

namespace Garages
{
    // So many connections to Redis, each of which serves one command at a time.
    public sealed class RedisPool
    {
        private readonly ConcurrentBag<RedisConnection> idle = new ConcurrentBag<RedisConnection>();
        private readonly SemaphoreSlim free;
        private readonly string host;
        private readonly int port;

        public RedisPool(string address, int connections)
        {
            var at = address.Split(':');
            host = at[0];
            port = int.Parse(at[1]);
            free = new SemaphoreSlim(connections);
        }

        public async Task<string> Call(params string[] command)
        {
            await free.WaitAsync();
            try
            {
                if (!idle.TryTake(out var connection))
                    connection = await RedisConnection.Open(host, port);
                string answer;
                try
                {
                    answer = await connection.Call(command);
                }
                catch
                {
                    connection.Dispose();
                    throw;
                }
                idle.Add(connection);
                return answer;
            }
            finally
            {
                free.Release();
            }
        }
    }
}
