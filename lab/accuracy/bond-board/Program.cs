using System;
using System.Collections.Concurrent;
using System.IO;
using System.Linq;
using System.Net.Sockets;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace BondBoard
{
    public sealed class Exchange
    {
        readonly string host;
        readonly int port;
        readonly ConcurrentBag<(StreamReader, StreamWriter)> lines = new ConcurrentBag<(StreamReader, StreamWriter)>();

        public Exchange(string address)
        {
            string[] at = address.Split(':');
            (host, port) = (at[0], int.Parse(at[1]));
        }

        public decimal Ask(int bond)
        {
            if (!lines.TryTake(out var line))
            {
                NetworkStream stream = new TcpClient(host, port) { NoDelay = true }.GetStream();
                line = (new StreamReader(stream), new StreamWriter(stream) { NewLine = "\n", AutoFlush = true });
            }
            line.Item2.WriteLine("GET bond-" + bond);
            decimal price = 90 + line.Item1.ReadLine().Length % 20;
            lines.Add(line);
            return price;
        }
    }

    // Has the prices of all bonds, four seconds old at most. They are asked for all at once;
    // with FAULT=0 by threads of their own.
    public sealed class Board : BackgroundService
    {
        public const int Bonds = 60;

        readonly Exchange exchange;
        readonly decimal[] prices = new decimal[Bonds];

        public Board(Exchange exchange) => this.exchange = exchange;

        public decimal Price(int bond) => prices[bond % Bonds];

        protected override async Task ExecuteAsync(CancellationToken stop)
        {
            TaskCreationOptions how = Environment.GetEnvironmentVariable("FAULT") == "0" ? TaskCreationOptions.LongRunning : TaskCreationOptions.None;
            while (!stop.IsCancellationRequested)
            {
                await Task.WhenAll(Enumerable.Range(0, Bonds).Select(bond => Task.Factory.StartNew(() => Refresh(bond), stop, how, TaskScheduler.Default)));
                await Task.Delay(4000, stop);
            }
        }

        void Refresh(int bond) => prices[bond] = exchange.Ask(bond);
    }

    [ApiController]
    [Route("bond")]
    public sealed class BondController : ControllerBase
    {
        readonly Board board;

        public BondController(Board board) => this.board = board;

        [HttpGet("{id:int}")]
        public decimal Get(int id) => board.Price(id);
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .ConfigureServices(services =>
                {
                    services.AddSingleton(new Exchange(Environment.GetEnvironmentVariable("ADDR_EXCHANGE")));
                    services.AddSingleton<Board>();
                    services.AddHostedService(provider => provider.GetRequiredService<Board>());
                    services.AddControllers();
                })
                .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers())))
            .Build()
            .Run();
    }
}
