using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace FanClub
{
    // Tells who has subscribed when a band has news.
    public sealed class Newsroom
    {
        public event Action<string> News;

        public void Publish(string text) => News?.Invoke(text);
    }

    // What one fan sees: dates of concerts, sorted by what he likes.
    public sealed class FanPage : IDisposable
    {
        static readonly string[] towns = { "Leeds", "Gent", "Porto", "Turku", "Graz", "Lyon", "Riga" };

        readonly Newsroom newsroom;
        readonly int fan;
        readonly List<Concert> concerts;
        string headline = "no news";

        public FanPage(Newsroom newsroom, int fan)
        {
            this.newsroom = newsroom;
            this.fan = fan;
            concerts = Enumerable.Range(0, 1600).Select(n => new Concert(towns[(fan + n) % towns.Length], "band " + fan * 13 % (n + 7), fan * n % 365)).ToList();
            concerts.Sort((one, other) => one.Day - other.Day);
            newsroom.News += OnNews;
        }

        void OnNews(string text) => headline = text;

        public string Text() => "fan " + fan + ": " + headline + "\n" + string.Join("\n", concerts.Take(12)) + "\n";

        public void Dispose() => newsroom.News -= OnNews;
    }

    public sealed class Concert
    {
        public readonly string Town, Band;
        public readonly int Day;

        public Concert(string town, string band, int day)
        {
            Town = town;
            Band = band;
            Day = day;
        }

        public override string ToString() => "day " + Day + ": " + Band + " in " + Town;
    }

    // Pages subscribe when they are made, and nobody disposes of them: the newsroom keeps all
    // there ever were. With FAULT=0 they are disposed of.
    public static class Program
    {
        static readonly bool dispose = Environment.GetEnvironmentVariable("FAULT") == "0";

        public static Task Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services => services.AddSingleton<Newsroom>())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(app => app.UseRouting().UseEndpoints(Routes)))
            .Build()
            .RunAsync();

        static void Routes(IEndpointRouteBuilder routes)
        {
            var newsroom = routes.ServiceProvider.GetRequiredService<Newsroom>();
            routes.MapGet("/fan/{fan:int}", async context =>
            {
                var page = new FanPage(newsroom, int.Parse((string)context.Request.RouteValues["fan"]));
                await context.Response.WriteAsync(page.Text());
                if (dispose)
                    page.Dispose();
            });
            routes.MapPost("/news/{text}", context =>
            {
                newsroom.Publish((string)context.Request.RouteValues["text"]);
                return context.Response.WriteAsync("published");
            });
        }
    }
}
