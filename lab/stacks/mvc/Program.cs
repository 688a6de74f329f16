using System;
using System.Net.Http;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Notary
{
    // A notary's office on ASP.NET Core MVC: controllers, deeds in memory, an authority that signs over HTTP.
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
                    .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers())))
                .Build().RunAsync();

        private static void Services(IServiceCollection services)
        {
            services.AddControllers();
            services.AddSingleton(new Register());
            services.AddSingleton(new SigningClient(new HttpClient { Timeout = TimeSpan.FromSeconds(20) }));
        }
    }
}
