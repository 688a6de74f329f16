using System;
using System.Net.Http;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Parcels
{
    // A parcel service on ASP.NET Core: labels by workers behind a Channel, customers who wait for events, a reconciliation in the background.
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
                    .Configure(app => app.UseRouting().UseEndpoints(Endpoints)))
                .Build().RunAsync();

        private static void Services(IServiceCollection services)
        {
            services.AddHttpClient("carrier", http => Settle(http, "ADDR_CARRIER"));
            services.AddHttpClient("archive", http => Settle(http, "ADDR_ARCHIVE"));
            services.AddSingleton<LabelQueue>();
            services.AddSingleton<Events>();
            services.AddHostedService<LabelPrinter>();
            services.AddHostedService<Reconciliation>();
        }

        private static void Settle(HttpClient http, string address)
        {
            http.BaseAddress = new Uri("http://" + Environment.GetEnvironmentVariable(address));
            http.Timeout = TimeSpan.FromSeconds(20);
        }

        private static void Endpoints(IEndpointRouteBuilder routes)
        {
            routes.MapGet("/parcels/{id:int}", context => context.Response.WriteAsync("{\"parcel\":" + Id(context) + ",\"depot\":" + Id(context) % 70 + "}"));
            routes.MapPost("/labels/{id:int}", async context =>
            {
                var label = await context.RequestServices.GetRequiredService<LabelQueue>().Print(Id(context));
                await context.RequestServices.GetRequiredService<Events>().Tell("label for parcel " + Id(context));
                await context.Response.WriteAsync(label);
            });
            routes.MapGet("/events/{id:int}", async context =>
            {
                var what = await context.RequestServices.GetRequiredService<Events>().Next(TimeSpan.FromSeconds(6));
                await context.Response.WriteAsync(what ?? "nothing");
            });
        }

        private static int Id(HttpContext context) => int.Parse((string)context.GetRouteValue("id"));
    }
}
