using System;
using System.Globalization;
using System.Threading;
using System.Threading.Tasks;
using GrainPrices.Mill;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace GrainPrices
{
    // Quotes prices of grain. The exchange library is asynchronous inside and has a facade
    // that is not: deep in it somebody asks a task for its result. The pool may have twelve
    // threads, for the sake of the host. With FAULT=0 the asynchronous way is taken all the
    // way down, for which these are plenty.
    public static class Program
    {
        public static void Main(string[] args)
        {
            ThreadPool.SetMaxThreads(12, 100);
            Create(args).Build().Run();
        }

        static IHostBuilder Create(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services =>
            {
                services.AddSingleton(new Exchange(Environment.GetEnvironmentVariable("ADDR_MILL")));
                services.AddSingleton<PriceBook>();
            })
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app => app.UseRouting().UseEndpoints(routes =>
                {
                    routes.MapGet("/quote/{grain}/{tons:int}", Quote);
                    routes.MapGet("/grains", context => context.Response.WriteAsync("wheat rye oats barley spelt"));
                })));

        static readonly bool Blocks = Environment.GetEnvironmentVariable("FAULT") != "0";

        static async Task Quote(HttpContext context)
        {
            var book = context.RequestServices.GetRequiredService<PriceBook>();
            string grain = (string)context.Request.RouteValues["grain"];
            int tons = int.Parse((string)context.Request.RouteValues["tons"], CultureInfo.InvariantCulture);
            decimal total = Blocks ? book.Total(grain, tons) : await book.TotalAsync(grain, tons);
            await context.Response.WriteAsync(total.ToString("0.00", CultureInfo.InvariantCulture));
        }
    }

    public sealed class PriceBook
    {
        readonly Exchange exchange;

        public PriceBook(Exchange exchange) => this.exchange = exchange;

        public decimal Total(string grain, int tons) => Discount(tons) * tons * exchange.PriceOf(grain);

        public async Task<decimal> TotalAsync(string grain, int tons) => Discount(tons) * tons * await exchange.PriceOfAsync(grain);

        static decimal Discount(int tons) => tons > 100 ? .96m : 1m;
    }
}
