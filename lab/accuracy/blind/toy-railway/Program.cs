using System;
using System.Collections.Concurrent;
using System.Linq;
using System.Text.Json;
using System.Threading;
using System.Threading.Channels;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace ToyRailway
{
    public class Train
    {
        public int Number { get; set; }
        public int Block { get; set; }
        public string[] Wagons { get; set; }
    }

    // Trains of a toy railway move each quarter of a second; orders for them are taken by a channel
    // that one reader empties at once.
    public class Layout : BackgroundService
    {
        public readonly ConcurrentDictionary<int, Train> Trains = new ConcurrentDictionary<int, Train>();
        readonly Channel<Train> orders = Channel.CreateUnbounded<Train>(new UnboundedChannelOptions { SingleReader = true });

        public bool Order(Train train) => orders.Writer.TryWrite(train);

        protected override Task ExecuteAsync(CancellationToken stop) => Task.WhenAll(TakeOrders(stop), Drive(stop));

        async Task TakeOrders(CancellationToken stop)
        {
            await foreach (Train train in orders.Reader.ReadAllAsync(stop))
                Trains[train.Number] = train;
        }

        async Task Drive(CancellationToken stop)
        {
            while (true)
            {
                await Task.Delay(250, stop);
                foreach (Train train in Trains.Values)
                    train.Block = (train.Block + 1) % 64;
            }
        }
    }

    [ApiController, Route("trains")]
    public class TrainsController : ControllerBase
    {
        readonly Layout layout;

        public TrainsController(Layout layout) => this.layout = layout;

        [HttpGet("{block:int}")]
        public IActionResult Near(int block) => Ok(layout.Trains.Values.Where(t => Math.Abs(t.Block - block) < 4).OrderBy(t => t.Number).Take(30));

        [HttpPut("{number:int}")]
        public IActionResult Put(int number)
        {
            string[] wagons = Enumerable.Range(0, number % 9).Select(w => "wagon " + w).ToArray();
            if (layout.Order(new Train { Number = number % 300, Block = number % 64, Wagons = wagons }))
                return Accepted();
            return StatusCode(503);
        }
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(l => l.ClearProviders())
            .ConfigureWebHostDefaults(w => w.UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR")).UseStartup<Startup>())
            .Build().Run();
    }

    public class Startup
    {
        public void ConfigureServices(IServiceCollection services)
        {
            services.AddSingleton<Layout>();
            services.AddHostedService(p => p.GetRequiredService<Layout>());
            services.AddControllers().AddJsonOptions(o => o.JsonSerializerOptions.PropertyNamingPolicy = JsonNamingPolicy.CamelCase);
        }

        public void Configure(IApplicationBuilder app) => app.UseRouting().UseEndpoints(e => e.MapControllers());
    }
}
