using System;
using System.IO;
using System.Net.Sockets;
using System.Text;
using System.Threading.Tasks;

namespace Garages
{
    // A connection to Redis: commands as arrays of strings, answers that are a line or one string.
    public sealed class RedisConnection : IDisposable
    {
        private readonly TcpClient client;
        private readonly NetworkStream stream;
        private readonly byte[] buffer = new byte[16384];
        private int from, to;

        private RedisConnection(TcpClient client)
        {
            this.client = client;
            stream = client.GetStream();
        }

        public static async Task<RedisConnection> Open(string host, int port)
        {
            // With the fault two-writes nobody says TCP_NODELAY, which .NET does not say by itself.
            var client = new TcpClient { NoDelay = !Program.Has("two-writes") };
            await client.ConnectAsync(host, port);
            return new RedisConnection(client);
        }

        public async Task<string> Call(string[] command)
        {
            var head = "*" + command.Length + "\r\n";
            for (var i = 0; i < command.Length; i++)
            {
                var value = "$" + Encoding.UTF8.GetByteCount(command[i]) + "\r\n" + command[i] + "\r\n";
                if (i < 2)
                {
                    head += value;
                    continue;
                }
                // The key and the value are written one after the other.
                await Send(head);
                head = value;
            }
            await Send(head);
            return await Read();
        }

        public void Dispose() => client.Dispose();

        private async Task Send(string text)
        {
            var bytes = Encoding.UTF8.GetBytes(text);
            await stream.WriteAsync(bytes, 0, bytes.Length);
        }

        private async Task<string> Read()
        {
            var line = await ReadLine();
            switch (line[0])
            {
                case '+':
                case ':':
                    return line.Substring(1);
                case '$':
                    var length = int.Parse(line.Substring(1));
                    return length < 0 ? null : await ReadExactly(length);
                default:
                    throw new IOException("Redis says " + line);
            }
        }

        private async Task<string> ReadLine()
        {
            var line = new StringBuilder();
            for (;;)
            {
                if (from == to)
                    await Fill();
                var c = (char)buffer[from++];
                if (c == '\n')
                    return line.ToString(0, line.Length - 1);
                line.Append(c);
            }
        }

        private async Task<string> ReadExactly(int length)
        {
            var bytes = new byte[length + 2];
            for (var done = 0; done < bytes.Length;)
            {
                if (from == to)
                    await Fill();
                var n = Math.Min(to - from, bytes.Length - done);
                Buffer.BlockCopy(buffer, from, bytes, done, n);
                from += n;
                done += n;
            }
            return Encoding.UTF8.GetString(bytes, 0, length);
        }

        private async Task Fill()
        {
            from = 0;
            to = await stream.ReadAsync(buffer, 0, buffer.Length);
            if (to == 0)
                throw new IOException("Redis has closed the connection");
        }
    }
}
