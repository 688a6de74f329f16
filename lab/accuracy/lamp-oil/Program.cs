using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace LampOil
{
    // How much oil each lighthouse has.
    public sealed class OilStock
    {
        public const int Lighthouses = 400;

        readonly object gate = new object();
        readonly Depot depot;
        readonly bool aside = Environment.GetEnvironmentVariable("FAULT") == "0";
        readonly Dictionary<int, int> litres = Enumerable.Range(0, Lighthouses).ToDictionary(house => house, house => 800 + house);

        public OilStock(Depot depot) => this.depot = depot;

        public int Litres(int house)
        {
            lock (gate)
                return litres[house];
        }

        public int Draw(int house, int amount)
        {
            lock (gate)
                return litres[house] = litres[house] > amount ? litres[house] - amount : 1200;
        }

        // Counts the stock district by district; the depot takes 12 ms to enter one. All of it
        // is done with the stock locked; with FAULT=0 a copy is counted.
        public void CountAll()
        {
            if (aside)
            {
                Dictionary<int, int> copy;
                lock (gate)
                    copy = new Dictionary<int, int>(litres);
                Count(copy);
                return;
            }
            lock (gate)
                Count(litres);
        }

        void Count(Dictionary<int, int> stock)
        {
            foreach (var district in stock.GroupBy(house => house.Key / 16))
                depot.Ask("COUNT " + district.Key + " " + district.Sum(house => house.Value));
        }
    }

    // Has the stock counted again and again while the service runs.
    public sealed class Stocktaker : IHostedService, IDisposable
    {
        static readonly TimeSpan pause = TimeSpan.FromMilliseconds(900);

        readonly OilStock stock;
        Timer timer;

        public Stocktaker(OilStock stock) => this.stock = stock;

        public Task StartAsync(CancellationToken cancel)
        {
            timer = new Timer(_ => Take(), null, pause, Timeout.InfiniteTimeSpan);
            return Task.CompletedTask;
        }

        void Take()
        {
            stock.CountAll();
            timer.Change(pause, Timeout.InfiniteTimeSpan);
        }

        public Task StopAsync(CancellationToken cancel)
        {
            timer.Change(Timeout.Infinite, 0);
            return Task.CompletedTask;
        }

        public void Dispose() => timer?.Dispose();
    }

    [ApiController]
    [Route("oil")]
    public sealed class OilController : ControllerBase
    {
        readonly OilStock stock;

        public OilController(OilStock stock) => this.stock = stock;

        [HttpGet("{house:int}")]
        public ActionResult<string> Get(int house) => house < OilStock.Lighthouses ? stock.Litres(house) + " l\n" : (ActionResult<string>)NotFound();

        [HttpPost("{house:int}/draw/{amount:int}")]
        public ActionResult<string> Draw(int house, int amount) => house < OilStock.Lighthouses ? stock.Draw(house, amount) + " l\n" : (ActionResult<string>)NotFound();
    }

    public static class Program
    {
        public static void Main(string[] args)
        {
            ThreadPool.SetMinThreads(80, 80);
            Host.CreateDefaultBuilder(args)
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .ConfigureServices(services =>
                    {
                        services.AddSingleton(new Depot(Environment.GetEnvironmentVariable("ADDR_DEPOT")));
                        services.AddSingleton<OilStock>();
                        services.AddHostedService<Stocktaker>();
                        services.AddControllers();
                    })
                    .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers())))
                .Build()
                .Run();
        }
    }
}
