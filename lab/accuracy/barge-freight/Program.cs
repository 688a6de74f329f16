using System;
using System.Net;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace BargeFreight
{
    public static class Program
    {
        public static Task Main(string[] args)
        {
            IPEndPoint quay = IPEndPoint.Parse(Environment.GetEnvironmentVariable("ADDR"));
            IPEndPoint scales = IPEndPoint.Parse(Environment.GetEnvironmentVariable("ADDR_SCALES"));
            return Host.CreateDefaultBuilder(args)
                .ConfigureLogging(log => log.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .ConfigureKestrel(kestrel => kestrel.Listen(quay, listen => listen.GiveScales(scales)))
                    .Configure(app => app.Run(Answer)))
                .Build()
                .RunAsync();
        }

        // Each connection of a skipper has a line to the scales, as a feature that its requests find.
        static void GiveScales(this ListenOptions listen, IPEndPoint at) =>
            listen.Use(next => async (ConnectionContext skipper) =>
            {
                using Scales scales = await Scales.Open(at);
                skipper.Features.Set(scales);
                await next(skipper);
            });

        static async Task Answer(HttpContext context)
        {
            string path = context.Request.Path.Value, barge = path.Substring(path.LastIndexOf('/') + 1);
            int weight = await WayBill.Weigh(context.Features.Get<Scales>(), barge);
            await context.Response.WriteAsync("barge " + barge + " carries " + weight + " kg\n");
        }
    }
}
