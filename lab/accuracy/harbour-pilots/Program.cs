using System;
using System.Net;
using System.Threading;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace HarbourPilots
{
    // Lets a number of connections into Kestrel; the others wait outside, accepted by the kernel
    // and read by nobody, until one has closed. Limits.MaxConcurrentConnections would turn them
    // away instead, which the shipping office did not want.
    public static class Gangway
    {
        public static void LetIn(this ListenOptions listen, int ships)
        {
            var places = new SemaphoreSlim(ships);
            listen.Use(next => async (ConnectionContext ship) =>
            {
                await places.WaitAsync();
                try
                {
                    await next(ship);
                }
                finally
                {
                    places.Release();
                }
            });
        }
    }

    public static class Program
    {
        public static Task Main(string[] args)
        {
            IPEndPoint quay = IPEndPoint.Parse(Environment.GetEnvironmentVariable("ADDR"));
            int ships = Environment.GetEnvironmentVariable("FAULT") == "0" ? 2000 : 6;
            return Host.CreateDefaultBuilder(args)
                .ConfigureLogging(log => log.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .ConfigureKestrel(kestrel => kestrel.Listen(quay, listen => listen.LetIn(ships)))
                    .Configure(app => app.Map("/pilot", pilot => pilot.Run(Assign))))
                .Build()
                .RunAsync();
        }

        // The duty officer takes 30 ms to answer the telephone.
        static async Task Assign(HttpContext context)
        {
            await Task.Delay(30);
            string ship = context.Request.Path.Value.TrimStart('/');
            await context.Response.WriteAsync("pilot " + (uint)ship.GetHashCode() % 17 + " boards " + ship + "\n");
        }
    }
}
