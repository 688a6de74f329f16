using System;
using System.Net.Http;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace RailGate
{
    // Platforms of trains, which another service knows. With FAULT=0 there are 32 connections
    // to it.
    public static class Program
    {
        static readonly HttpClient http = new HttpClient(new HttpClientHandler { UseProxy = false, MaxConnectionsPerServer = Environment.GetEnvironmentVariable("FAULT") == "0" ? 32 : 2 })
        {
            BaseAddress = new Uri("http://" + Environment.GetEnvironmentVariable("ADDR_PLATFORMS"))
        };

        public static void Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .Configure(app => app.UseRouting().UseEndpoints(Routes)))
            .Build()
            .Run();

        static void Routes(IEndpointRouteBuilder routes)
        {
            routes.MapGet("/train/{id}", async context =>
            {
                string platform = await Platform((string)context.Request.RouteValues["id"]);
                await context.Response.WriteAsync(platform);
            });
        }

        static async Task<string> Platform(string train)
        {
            using HttpResponseMessage answer = await http.GetAsync("/platform/" + train);
            return await answer.Content.ReadAsStringAsync();
        }
    }
}
