using System;
using System.Runtime;
using Microsoft.AspNetCore.Mvc.Filters;

namespace GuildAccounts
{
    // Gives back the memory that a large answer needed, as soon as it is sent. With FAULT=0
    // that is left to the collector.
    public sealed class TidyUpAttribute : ResultFilterAttribute
    {
        static readonly bool LeavesIt = Environment.GetEnvironmentVariable("FAULT") == "0";

        public override void OnResultExecuted(ResultExecutedContext context)
        {
            if (LeavesIt)
                return;
            GCSettings.LargeObjectHeapCompactionMode = GCLargeObjectHeapCompactionMode.CompactOnce;
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
        }
    }
}
