using System;
using System.Collections.Generic;
using System.IO;
using System.Net.Sockets;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace VineyardLedger
{
    // Bottles in and out of a cellar. The keeper writes each change to the office over one
    // wire, and keeps the ledger locked until the office has said OK. With FAULT=0 every
    // rack has a wire of its own that is awaited, and the ledger is locked for the sum.
    public static class Program
    {
        public static async Task Main()
        {
            var keeper = new CellarKeeper(Environment.GetEnvironmentVariable("ADDR_OFFICE"));
            using IHost host = new HostBuilder()
                .ConfigureLogging(logging => logging.SetMinimumLevel(LogLevel.None))
                .ConfigureWebHost(web => web
                    .UseKestrel()
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                    .Configure(app => app.Use(next => context => Dispatch(context, keeper))))
                .Build();
            await host.RunAsync();
        }

        static async Task Dispatch(HttpContext context, CellarKeeper keeper)
        {
            string[] path = context.Request.Path.Value.Split('/');
            if (path.Length != 4 || path[1] != "rack" || !int.TryParse(path[3], out int bottles))
            {
                context.Response.StatusCode = 404;
                return;
            }
            int left = CellarKeeper.Holds ? keeper.Move(path[2], bottles) : await keeper.MoveAsync(path[2], bottles);
            await context.Response.WriteAsync("{\"left\":" + left + "}");
        }
    }

    public sealed class CellarKeeper
    {
        public static readonly bool Holds = Environment.GetEnvironmentVariable("FAULT") != "0";

        readonly string[] office;
        readonly Dictionary<string, int> ledger = new Dictionary<string, int>();
        readonly Stack<Wire> wires = new Stack<Wire>();
        readonly Wire wire;

        public CellarKeeper(string address)
        {
            office = address.Split(':');
            wire = new Wire(office);
        }

        public int Move(string rack, int bottles)
        {
            lock (ledger)
            {
                int left = Sum(rack, bottles);
                wire.Tell(rack + " " + left);
                return left;
            }
        }

        public async Task<int> MoveAsync(string rack, int bottles)
        {
            int left;
            Wire own;
            lock (ledger)
            {
                left = Sum(rack, bottles);
                own = wires.Count > 0 ? wires.Pop() : new Wire(office);
            }
            await own.TellAsync(rack + " " + left);
            lock (ledger)
                wires.Push(own);
            return left;
        }

        int Sum(string rack, int bottles)
        {
            ledger.TryGetValue(rack, out int left);
            return ledger[rack] = left + bottles;
        }

        sealed class Wire
        {
            readonly StreamReader said;
            readonly StreamWriter tell;

            public Wire(string[] at)
            {
                NetworkStream stream = new TcpClient(at[0], int.Parse(at[1])) { NoDelay = true }.GetStream();
                said = new StreamReader(stream);
                tell = new StreamWriter(stream) { NewLine = "\n", AutoFlush = true };
            }

            public void Tell(string entry)
            {
                tell.WriteLine("SET " + entry);
                said.ReadLine();
            }

            public async Task TellAsync(string entry)
            {
                await tell.WriteLineAsync("SET " + entry);
                await said.ReadLineAsync();
            }
        }
    }
}
