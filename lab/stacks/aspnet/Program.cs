using System;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Shop
{
    // The front of a shop on ASP.NET Core: endpoints, IHttpClientFactory, IMemoryCache.
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
            services.AddMemoryCache();
            services.AddHttpClient<Partner>(http =>
            {
                http.BaseAddress = new Uri("http://" + Environment.GetEnvironmentVariable("ADDR_PARTNER"));
                http.Timeout = TimeSpan.FromSeconds(15);
            });
            services.AddSingleton<Catalogue>();
            services.AddHostedService<CatalogueKeeper>();
        }

        private static void Endpoints(IEndpointRouteBuilder routes)
        {
            routes.MapGet("/offers/{id:int}", async context =>
            {
                var partner = context.RequestServices.GetRequiredService<Partner>();
                var offer = await partner.Offer(int.Parse((string)context.GetRouteValue("id")));
                context.Response.ContentType = "application/json";
                await context.Response.WriteAsync(offer);
            });
            routes.MapGet("/catalogue", async context =>
            {
                var page = context.RequestServices.GetRequiredService<Catalogue>().Page();
                context.Response.ContentType = "application/json";
                await context.Response.Body.WriteAsync(page, 0, page.Length);
            });
            routes.MapGet("/products/{id:int}", context =>
            {
                var product = Product.Of(int.Parse((string)context.GetRouteValue("id")), 1);
                return context.Response.WriteAsync(product.Name + " " + product.Cents + "\n");
            });
        }
    }
}
