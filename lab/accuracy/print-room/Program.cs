using System;
using System.Collections.Concurrent;
using System.IO;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;

namespace PrintRoom
{
    // Prints pages on the machines of a print room. Who prints holds a place at a machine;
    // for the others there is an awaited semaphore. With FAULT=0 the room is four times as
    // large.
    public sealed class Room
    {
        readonly string[] spooler;
        readonly SemaphoreSlim machines;
        readonly ConcurrentQueue<(StreamReader, StreamWriter)> idle = new ConcurrentQueue<(StreamReader, StreamWriter)>();

        public Room(string spooler, int size)
        {
            this.spooler = spooler.Split(':');
            machines = new SemaphoreSlim(size, size);
        }

        public async Task<string> Print(string page)
        {
            await machines.WaitAsync();
            try
            {
                return await Spool(page);
            }
            finally
            {
                machines.Release();
            }
        }

        async Task<string> Spool(string page)
        {
            if (!idle.TryDequeue(out var machine))
            {
                var client = new TcpClient { NoDelay = true };
                await client.ConnectAsync(spooler[0], int.Parse(spooler[1]));
                machine = (new StreamReader(client.GetStream()), new StreamWriter(client.GetStream()) { NewLine = "\n", AutoFlush = true });
            }
            (StreamReader answers, StreamWriter asks) = machine;
            await asks.WriteLineAsync("PRINT " + page);
            string said = await answers.ReadLineAsync();
            idle.Enqueue(machine);
            return said;
        }
    }

    public static class Program
    {
        public static void Main()
        {
            int size = Environment.GetEnvironmentVariable("FAULT") == "0" ? 12 : 3;
            var room = new Room(Environment.GetEnvironmentVariable("ADDR_SPOOLER"), size);
            new WebHostBuilder()
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(app =>
                {
                    app.UseWhen(context => context.Request.Path == "/health", health => health.Run(context => context.Response.WriteAsync("ok")));
                    app.Run(async context => await context.Response.WriteAsync(await room.Print(context.Request.Path.Value.Replace('/', ' '))));
                })
                .Build()
                .Run();
        }
    }
}
