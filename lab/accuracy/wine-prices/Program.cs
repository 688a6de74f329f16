using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace WinePrices
{
    public sealed class Wine
    {
        public readonly string Name;
        public readonly int Vintage;
        public readonly LinkedList<Offer> Offers = new LinkedList<Offer>();

        public Wine(string name, int vintage)
        {
            Name = name;
            Vintage = vintage;
        }
    }

    public sealed class Offer
    {
        public readonly string Merchant;
        public readonly decimal Price;

        public Offer(string merchant, decimal price)
        {
            Merchant = merchant;
            Price = price;
        }
    }

    // All wines with what merchants want for them, in memory.
    public sealed class Cellar
    {
        public const int Wines = 150_000;
        const int Merchants = 14;

        readonly Wine[] wines = new Wine[Wines];

        public Cellar()
        {
            var random = new Random(11);
            for (int n = 0; n < Wines; n++)
                wines[n] = new Wine("wine " + n, 1960 + random.Next(60));
            for (int merchant = 0; merchant < Merchants; merchant++)
                foreach (Wine wine in wines)
                    wine.Offers.AddLast(new Offer("merchant " + random.Next(300), 4 + random.Next(9000) / 100m));
        }

        public Wine Find(int number) => wines[number % Wines];

        public IEnumerable<Wine> Like(int number) => Enumerable.Range(1, 20).Select(step => Find(number + step * 997));
    }

    public sealed class Startup
    {
        public void ConfigureServices(IServiceCollection services) => services.AddSingleton(new Cellar());

        public void Configure(IApplicationBuilder app, Cellar cellar)
        {
            app.UseRouting();
            app.UseEndpoints(routes =>
            {
                routes.MapGet("/wine/{number:int}", context => context.Response.WriteAsync(Best(cellar.Find(Number(context)))));
                routes.MapGet("/like/{number:int}", context =>
                {
                    var page = new StringBuilder();
                    foreach (Wine wine in cellar.Like(Number(context)).OrderBy(wine => wine.Vintage))
                        page.AppendLine(Best(wine));
                    return context.Response.WriteAsync(page.ToString());
                });
            });
        }

        static int Number(HttpContext context) => int.Parse((string)context.Request.RouteValues["number"]);

        static string Best(Wine wine)
        {
            Offer best = wine.Offers.OrderBy(offer => offer.Price).First();
            return wine.Name + " of " + wine.Vintage + ": " + best.Price.ToString(CultureInfo.InvariantCulture) + " at " + best.Merchant;
        }
    }

    // The guard may be left out with FAULT=0.
    public static class Program
    {
        public static async Task Main(string[] args)
        {
            using IHost host = Host.CreateDefaultBuilder(args)
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .UseStartup<Startup>())
                .Build();
            using MemoryGuard guard = Environment.GetEnvironmentVariable("FAULT") == "0" ? null : new MemoryGuard(100 << 20, TimeSpan.FromMilliseconds(1200));
            await host.RunAsync();
        }
    }
}
