using System;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace PearlDivers
{
    // How deep a diver is, as the boat knows. With FAULT=0 the boat is awaited.
    public static class Program
    {
        static readonly bool Waits = Environment.GetEnvironmentVariable("FAULT") != "0";

        public static void Main(string[] args)
        {
            var boat = new Boat(Environment.GetEnvironmentVariable("ADDR_BOAT"));
            Host.CreateDefaultBuilder(args)
                .ConfigureLogging(logging => logging.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                    .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapGet("/diver/{name}", context => Show(context, boat)))))
                .Build()
                .Run();
        }

        static async Task Show(HttpContext context, Boat boat)
        {
            string diver = (string)context.Request.RouteValues["name"];
            int fathoms = Waits ? boat.Depth(diver) : await boat.DepthAsync(diver);
            await context.Response.WriteAsync(fathoms + " fathoms");
        }
    }
}
