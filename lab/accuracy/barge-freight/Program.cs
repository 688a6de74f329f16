using System;
using System.Net;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace BargeFreight
{
    public static class Program
    {
        public static Task Main(string[] args)
        {
            IPEndPoint quay = IPEndPoint.Parse(Environment.GetEnvironmentVariable("ADDR"));
            return Host.CreateDefaultBuilder(args)
                .ConfigureLogging(log => log.ClearProviders())
                .ConfigureWebHostDefaults(web => web
                    .ConfigureKestrel(kestrel => kestrel.Listen(quay, listen => listen.UseConnectionHandler<FreightClerk>()))
                    .Configure(app => { }))
                .Build()
                .RunAsync();
        }
    }
}
