using System;
using System.Net.Http;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Caching.Memory;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace PaperMill
{
    // Prices of paper, kept for ten seconds each; a new one comes from the exchange in 6 ms.
    public sealed class Quotes
    {
        readonly IMemoryCache kept;
        readonly HttpClient exchange;

        public Quotes(IMemoryCache kept, IHttpClientFactory clients)
        {
            this.kept = kept;
            exchange = clients.CreateClient("exchange");
        }

        public Task<string> Of(string sort) => kept.GetOrCreateAsync(sort, async entry =>
        {
            entry.AbsoluteExpirationRelativeToNow = TimeSpan.FromSeconds(8 + sort.Length % 5);
            return await exchange.GetStringAsync("/quote/" + sort);
        });
    }

    public static class Program
    {
        public static Task Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(l => l.ClearProviders())
            .ConfigureServices(s =>
            {
                s.AddMemoryCache();
                s.AddHttpClient("exchange", c => c.BaseAddress = new Uri("http://" + Environment.GetEnvironmentVariable("ADDR_EXCHANGE")));
                s.AddSingleton<Quotes>();
            })
            .ConfigureWebHostDefaults(w => w.UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR")).Configure(app => app.UseRouting().UseEndpoints(e =>
            {
                var quotes = e.ServiceProvider.GetRequiredService<Quotes>();
                e.MapGet("/paper/{sort}", async c => await c.Response.WriteAsync(await quotes.Of((string)c.Request.RouteValues["sort"])));
            })))
            .Build().RunAsync();
    }
}
