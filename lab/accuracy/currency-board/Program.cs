using System;
using System.Collections.Concurrent;
using System.Net.Http;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace CurrencyBoard
{
    // The bank that knows the rates: an HTTP service that takes 35 ms.
    public sealed class Bank
    {
        readonly HttpClient client;

        public Bank(HttpClient client)
        {
            client.BaseAddress = new Uri("http://" + Environment.GetEnvironmentVariable("ADDR_BANK"));
            this.client = client;
        }

        public async Task<string> Ask(string currency)
        {
            using HttpResponseMessage answer = await client.GetAsync("/rates/" + currency);
            answer.EnsureSuccessStatusCode();
            return await answer.Content.ReadAsStringAsync();
        }
    }

    // Rates that are good for a while. Who finds one too old asks the bank for another, with
    // the board's one semaphore held, but does not look again whether somebody else has done
    // so in the meantime. With FAULT=0 he looks, and each rate has a semaphore.
    public sealed class Board
    {
        static readonly TimeSpan good = TimeSpan.FromMilliseconds(1500);

        readonly IServiceProvider services;
        readonly bool careful = Environment.GetEnvironmentVariable("FAULT") == "0";
        readonly SemaphoreSlim refresh = new SemaphoreSlim(1, 1);
        readonly ConcurrentDictionary<string, SemaphoreSlim> each = new ConcurrentDictionary<string, SemaphoreSlim>();
        readonly ConcurrentDictionary<string, Quote> quotes = new ConcurrentDictionary<string, Quote>();

        public Board(IServiceProvider services) => this.services = services;

        public async Task<string> Rate(string currency)
        {
            if (Find(currency, out string rate))
                return rate;
            return await Refresh(currency);
        }

        bool Find(string currency, out string rate)
        {
            bool found = quotes.TryGetValue(currency, out Quote quote) && DateTime.UtcNow < quote.Until;
            rate = quote?.Text;
            return found;
        }

        async Task<string> Refresh(string currency)
        {
            SemaphoreSlim turn = careful ? each.GetOrAdd(currency, _ => new SemaphoreSlim(1, 1)) : refresh;
            await turn.WaitAsync();
            try
            {
                if (careful && Find(currency, out string rate))
                    return rate;
                string text = await services.GetRequiredService<Bank>().Ask(currency);
                quotes[currency] = new Quote(text, DateTime.UtcNow + good);
                return text;
            }
            finally
            {
                turn.Release();
            }
        }

        sealed class Quote
        {
            public readonly string Text;
            public readonly DateTime Until;

            public Quote(string text, DateTime until)
            {
                Text = text;
                Until = until;
            }
        }
    }

    public sealed class Startup
    {
        public void ConfigureServices(IServiceCollection services)
        {
            services.AddHttpClient<Bank>();
            services.AddSingleton<Board>();
        }

        public void Configure(IApplicationBuilder app, Board board)
        {
            app.UseRouting();
            app.UseEndpoints(routes => routes.MapGet("/rate/{currency}", async context =>
            {
                string rate = await board.Rate((string)context.Request.RouteValues["currency"]);
                context.Response.ContentType = "application/json";
                await context.Response.WriteAsync(rate);
            }));
        }
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseStartup<Startup>())
            .Build()
            .Run();
    }
}
