using System;
using System.Linq;
using System.Text.Json;
using System.Threading.Tasks;
using Microsoft.AspNetCore.Http;

namespace Garages
{
    // Prints a line for each request, with its headers, for the shipper of logs.
    public sealed class AccessLog
    {
        private readonly RequestDelegate next;

        public AccessLog(RequestDelegate next) => this.next = next;

        public async Task InvokeAsync(HttpContext context)
        {
            await next(context);
            var headers = context.Request.Headers.ToDictionary(header => header.Key, header => header.Value.ToString());
            Console.WriteLine(JsonSerializer.Serialize(new
            {
                at = DateTime.UtcNow,
                method = context.Request.Method,
                path = context.Request.Path.Value,
                status = context.Response.StatusCode,
                headers,
                trace = new string('0', 900), // what the tracing of the company adds
            }));
        }
    }
}
