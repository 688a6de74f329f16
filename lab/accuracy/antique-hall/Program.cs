using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.SignalR;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace AntiqueHall
{
    // What bids stand at. A lot never goes down.
    public sealed class Lots
    {
        public const int Count = 40;

        readonly ConcurrentDictionary<int, long> prices = new ConcurrentDictionary<int, long>();

        public long Price(int lot) => prices.TryGetValue(lot, out long price) ? price : 10;

        // Whether the bid is the highest.
        public bool Bid(int lot, long amount)
        {
            long now = prices.AddOrUpdate(lot, amount, (_, before) => Math.Max(before, amount));
            return now == amount;
        }
    }

    // Where bidders are for as long as the auction lasts: they follow lots, bid, and may have
    // the price of one lot as a stream.
    public sealed class Hall : Hub
    {
        readonly Lots lots;

        public Hall(Lots lots) => this.lots = lots;

        public Task Follow(int lot) => Groups.AddToGroupAsync(Context.ConnectionId, "lot" + lot);

        public async Task<bool> Bid(int lot, long amount)
        {
            bool highest = lots.Bid(lot, amount);
            if (highest)
                await Clients.Group("lot" + lot).SendAsync("outbid", lot, amount);
            return highest;
        }

        public async IAsyncEnumerable<long> Prices(int lot, [EnumeratorCancellation] CancellationToken gone)
        {
            while (!gone.IsCancellationRequested)
            {
                yield return lots.Price(lot);
                await Task.Delay(700, gone);
            }
        }
    }

    // Calls out the lots, one each 100 ms, to those who follow them.
    public sealed class Auctioneer : BackgroundService
    {
        readonly IHubContext<Hall> hall;
        readonly Lots lots;

        public Auctioneer(IHubContext<Hall> hall, Lots lots)
        {
            this.hall = hall;
            this.lots = lots;
        }

        protected override async Task ExecuteAsync(CancellationToken closing)
        {
            for (int lot = 0; ; lot = (lot + 1) % Lots.Count)
            {
                await hall.Clients.Group("lot" + lot).SendAsync("called", lot, lots.Price(lot), closing);
                await Task.Delay(100, closing);
            }
        }
    }

    public sealed class Startup
    {
        public void ConfigureServices(IServiceCollection services)
        {
            services.AddSingleton<Lots>();
            services.AddHostedService<Auctioneer>();
            services.AddSignalR();
        }

        public void Configure(IApplicationBuilder app, Lots lots)
        {
            app.UseRouting();
            app.UseEndpoints(routes =>
            {
                routes.MapHub<Hall>("/hall");
                routes.MapGet("/lot/{lot:int}", context =>
                {
                    int lot = int.Parse((string)context.Request.RouteValues["lot"]);
                    context.Response.ContentType = "application/json";
                    return context.Response.WriteAsync("{\"lot\":" + lot + ",\"price\":" + lots.Price(lot) + "}");
                });
            });
        }
    }

    // Nothing is wrong here: bidders stay, and are silent most of the time.
    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .UseStartup<Startup>())
            .Build()
            .Run();
    }
}
