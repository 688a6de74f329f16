using System;
using System.Linq;
using System.Net.Http;
using System.Text.Json;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace SnowReport
{
    // Snow on the slopes of a valley, from what was fetched last. Nothing is wrong here.
    public static class Program
    {
        public static Task Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services =>
            {
                services.AddSingleton(new HttpClient { BaseAddress = new Uri("http://" + Environment.GetEnvironmentVariable("ADDR_STATIONS")) });
                services.AddSingleton<Reports>();
                services.AddHostedService(all => all.GetRequiredService<Reports>());
            })
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(app => app.UseRouting().UseEndpoints(Routes)))
            .Build()
            .RunAsync();

        static void Routes(IEndpointRouteBuilder routes)
        {
            var reports = routes.ServiceProvider.GetRequiredService<Reports>();
            routes.MapGet("/snow/{valley}", context =>
            {
                if (!reports.Latest.Valleys.TryGetValue((string)context.Request.RouteValues["valley"], out Slope[] slopes))
                {
                    context.Response.StatusCode = 404;
                    return Task.CompletedTask;
                }
                var open = slopes.Where(slope => slope.Open).Select(slope => new { name = slope.Name.ToUpperInvariant(), depth = slope.Centimetres + " cm" }).ToList();
                context.Response.ContentType = "application/json";
                return context.Response.WriteAsync(JsonSerializer.Serialize(new { count = open.Count, best = open.Take(30) }));
            });
        }
    }
}
