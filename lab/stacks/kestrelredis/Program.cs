using System;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Garages
{
    // What a company with many garages serves on ASP.NET Core behind nginx: tickets in Redis by a client of its own, a bank over HTTP.
    public static class Program
    {
        private static readonly string Fault = Environment.GetEnvironmentVariable("FAULT") ?? "off";

        public static bool Has(string fault) => Fault == fault;

        public static Task Main(string[] args) =>
            Host.CreateDefaultBuilder(args)
                .ConfigureLogging(log => log.SetMinimumLevel(LogLevel.Warning))
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .ConfigureServices(Services)
                    .Configure(app => app.UseMiddleware<AccessLog>().UseRouting().UseEndpoints(Endpoints)))
                .Build().RunAsync();

        private static void Services(IServiceCollection services)
        {
            services.AddHttpClient<Bank>(http =>
            {
                http.BaseAddress = new Uri("http://" + Environment.GetEnvironmentVariable("ADDR_BANK"));
                http.Timeout = TimeSpan.FromSeconds(15);
            });
            services.AddSingleton(new RedisPool(Environment.GetEnvironmentVariable("ADDR_REDIS"), Has("one-connection") ? 1 : 24));
            services.AddSingleton<Tickets>();
        }

        private static void Endpoints(IEndpointRouteBuilder routes)
        {
            routes.MapGet("/tickets/{id:int}", async context => await Write(context, await Tickets(context).Find(Id(context))));
            routes.MapPost("/tickets/{id:int}", async context => await Write(context, await Tickets(context).Issue(Id(context))));
            routes.MapPost("/tickets/{id:int}/payment", async context =>
            {
                var bank = context.RequestServices.GetRequiredService<Bank>();
                await Write(context, await bank.Charge(Id(context)));
            });
            routes.MapGet("/garages/{id:int}", context => Write(context, "{\"garage\":" + Id(context) + ",\"levels\":4}"));
            routes.MapGet("/barriers/{id:int}/car", async context =>
            {
                await Task.Delay(TimeSpan.FromSeconds(4)); // until a car comes
                await Write(context, "{\"car\":false}");
            });
            routes.MapGet("/health", context => Write(context, "\"ok\""));
        }

        private static Tickets Tickets(HttpContext context) => context.RequestServices.GetRequiredService<Tickets>();

        private static int Id(HttpContext context) => int.Parse((string)context.GetRouteValue("id"));

        private static Task Write(HttpContext context, string json)
        {
            context.Response.ContentType = "application/json";
            return context.Response.WriteAsync(json);
        }
    }
}
