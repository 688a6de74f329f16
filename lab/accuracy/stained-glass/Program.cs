using System;
using System.Collections.Generic;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace StainedGlass
{
    // A piece of glass of a window, and its neighbour.
    public sealed class Shard
    {
        public readonly string Colour;
        public readonly Shard Next;

        public Shard(string colour, Shard next) => (Colour, Next) = (colour, next);
    }

    public static class Program
    {
        const int Windows = 500_000;
        static readonly Shard[] Glass = new Shard[Windows];

        public static Task Main(string[] args)
        {
            for (int shard = 0; shard < 4; shard++)
                for (int window = 0; window < Windows; window++)
                    Glass[window] = new Shard("colour " + (window + shard) % 977, Glass[window]);
            return Host.CreateDefaultBuilder(args)
                .ConfigureLogging(log => log.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                    .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                    .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapGet("/window/{number:int}", ShowWindow))))
                .Build()
                .RunAsync();
        }

        static Task ShowWindow(HttpContext context)
        {
            int number = int.Parse((string)context.Request.RouteValues["number"]);
            var colours = new List<string>();
            for (Shard shard = Glass[number % Windows]; shard != null; shard = shard.Next)
                colours.Add(shard.Colour);
            long brightness = new Pane(number).Brightness();
            return context.Response.WriteAsync("window " + number + ": " + string.Join(", ", colours) + ", brightness " + brightness + "\n");
        }
    }
}
