using System;
using System.Net.Http;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace TramTimes
{
    // Next trams at a stop. Where the trams are, another service knows: it is asked for
    // each request, and awaited.
    public sealed class PositionClient
    {
        readonly HttpClient http;

        public PositionClient(HttpClient http) => this.http = http;

        public Task<string> Near(string stop) => http.GetStringAsync("/positions/" + stop);
    }

    public static class Program
    {
        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .ConfigureServices(services => services
                    .AddHttpClient<PositionClient>(http => http.BaseAddress = new Uri("http://" + Environment.GetEnvironmentVariable("ADDR_POSITIONS")))
                    .ConfigurePrimaryHttpMessageHandler(() => new SocketsHttpHandler { UseProxy = false }))
                .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapGet("/stop/{stop}/next", Next))))
            .Build()
            .Run();

        static async Task Next(HttpContext context)
        {
            var positions = context.RequestServices.GetRequiredService<PositionClient>();
            string near = await positions.Near((string)context.Request.RouteValues["stop"]);
            context.Response.ContentType = "application/json";
            await context.Response.WriteAsync("{\"line\":" + near.Length % 12 + ",\"minutes\":" + near.GetHashCode() % 9 + "}");
        }
    }
}
