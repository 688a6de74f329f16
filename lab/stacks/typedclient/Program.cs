using System;
using System.Net.Http;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Theatre
{
    // The box office of a theatre on ASP.NET Core: seats in memory, an agency over HTTP by a typed client of IHttpClientFactory.
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
                    .Configure(app => app.UseRouting().UseEndpoints(BoxOffice.Map)))
                .Build().RunAsync();

        private static void Services(IServiceCollection services)
        {
            services.AddRouting();
            services.AddSingleton(new House());
            services.AddSingleton<Ledger>();
            services.AddHostedService<Season>();
            services.AddHttpClient<Agency>(client =>
                {
                    client.BaseAddress = new Uri("http://" + Environment.GetEnvironmentVariable("ADDR_AGENCY"));
                    client.Timeout = TimeSpan.FromSeconds(20);
                })
                // Two connections to a server were the default before .NET Core.
                .ConfigurePrimaryHttpMessageHandler(() => new SocketsHttpHandler { MaxConnectionsPerServer = Program.Has("two-connections") ? 2 : 64 });
        }
    }
}
