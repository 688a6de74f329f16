using System;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Hosting;
using Microsoft.AspNetCore.Mvc;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace DispatchForms
{
    [Route("form")]
    public sealed class FormController : ControllerBase
    {
        readonly FormWriter writer;

        public FormController(FormWriter writer) => this.writer = writer;

        [HttpPost("{harbour:int}/{number:int}")]
        public ContentResult Write(int harbour, int number) => Content(writer.WriteVoyage(harbour, number), "text/xml");
    }

    public static class Program
    {
        public static Task Main(string[] args) => Host.CreateDefaultBuilder(args)
            .ConfigureLogging(log => log.ClearProviders())
            .ConfigureWebHostDefaults(web => web
                .UseUrls("http://" + Environment.GetEnvironmentVariable("ADDR"))
                .UseShutdownTimeout(TimeSpan.FromSeconds(1))
                .ConfigureServices(services =>
                {
                    services.AddSingleton<FormWriter>();
                    services.AddControllers();
                })
                .Configure(app => app.UseRouting().UseEndpoints(routes => routes.MapControllers())))
            .Build()
            .RunAsync();
    }
}
