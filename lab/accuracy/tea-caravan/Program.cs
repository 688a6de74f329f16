using System;
using System.Net.Http;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace TeaCaravan
{
    // The customs, which know the duty of a chest. With FAULT=0 it has as many connections as it
    // needs.
    public sealed class Customs
    {
        readonly HttpClient client;

        public Customs()
        {
            var handler = new SocketsHttpHandler();
            if (Environment.GetEnvironmentVariable("FAULT") != "0")
                handler.MaxConnectionsPerServer = 4;
            client = new HttpClient(handler) { BaseAddress = new Uri("http://" + Environment.GetEnvironmentVariable("ADDR_CUSTOMS")) };
        }

        public Task<string> Duty(string chest) => client.GetStringAsync("/duty/" + chest);
    }

    public static class Program
    {
        public static Task Main() => new HostBuilder()
            .ConfigureLogging(logging => logging.ClearProviders())
            .ConfigureServices(services => services.AddSingleton<Customs>())
            .ConfigureWebHost(web => web
                .UseKestrel()
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .Configure(app => app.Map("/load", at => at.Run(async c =>
                {
                    string chest = c.Request.Path.Value.Trim('/');
                    await c.Response.WriteAsync(chest + " " + await c.RequestServices.GetRequiredService<Customs>().Duty(chest));
                }))))
            .Build()
            .RunAsync();
    }
}
